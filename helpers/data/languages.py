"""One short text in nine languages: what the lamplighter of Lantern Bay does in the evening.

The text was written for this course, in English first; the other eight say the same. Native
speakers have not checked them.
"""

SAME_TEXT = {
    "English": (
        "Every evening the lamplighter walks along the harbour and lights one lantern after "
        "another. Then the boats find their way home, even when fog hides the rocks."
    ),
    "French": (
        "Chaque soir, l'allumeur de réverbères longe le port et allume les lanternes l'une après "
        "l'autre. Alors les bateaux retrouvent le chemin du retour, même quand le brouillard cache "
        "les rochers."
    ),
    "German": (
        "Jeden Abend geht der Laternenanzünder am Hafen entlang und zündet eine Laterne nach der "
        "anderen an. Dann finden die Boote nach Hause, auch wenn der Nebel die Felsen verhüllt."
    ),
    "Spanish": (
        "Cada noche el farolero recorre el puerto y enciende un farol tras otro. Así las barcas "
        "encuentran el camino a casa, incluso cuando la niebla esconde las rocas."
    ),
    "Greek": (
        "Κάθε βράδυ ο φανοκόρος περπατά κατά μήκος του λιμανιού και ανάβει το ένα φανάρι μετά το "
        "άλλο. Τότε οι βάρκες βρίσκουν τον δρόμο του γυρισμού, ακόμη κι όταν η ομίχλη κρύβει τα "
        "βράχια."
    ),
    "Russian": (
        "Каждый вечер фонарщик обходит гавань и зажигает один фонарь за другим. И тогда лодки "
        "находят дорогу домой, даже когда туман скрывает скалы."
    ),
    "Arabic": (
        "في كل مساء يمشي مُشعِل المصابيح بمحاذاة الميناء ويوقد الفوانيس واحدًا تلو الآخر. عندئذٍ تجد "
        "القوارب طريق العودة، حتى حين يخفي الضباب الصخور."
    ),
    "Hindi": (
        "हर शाम बत्ती जलाने वाला बंदरगाह के किनारे-किनारे चलता है और एक के बाद एक लालटेनें जलाता है। "
        "तब नावें घर का रास्ता ढूँढ़ लेती हैं, भले ही कोहरा चट्टानों को छिपा ले।"
    ),
    "Chinese": (
        "每天傍晚，点灯人沿着港边走，把灯一盏一盏地点亮。这样，即使大雾遮住了礁石，船也能找到回家的路。"
    ),
}
