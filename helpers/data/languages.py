"""One short text in nine languages: what the lamplighter of Lantern Bay does in the evening.

The text was written for this course, in English first; the other eight say the same.
"""

SAME_TEXT = {
    "English": (
        "Every evening the lamplighter walks along the harbour and lights one lantern after "
        "another. Then the boats find their way home, even when fog hides the rocks."
    ),
    "French": (
        "Chaque soir, l'allumeur de réverbères longe le port et allume une lanterne après l'autre. "
        "Alors les bateaux retrouvent leur chemin, même quand le brouillard cache les rochers."
    ),
    "German": (
        "Jeden Abend geht der Laternenanzünder am Hafen entlang und zündet eine Laterne nach der "
        "anderen an. Dann finden die Boote nach Hause, auch wenn der Nebel die Felsen verhüllt."
    ),
    "Spanish": (
        "Cada noche el farolero recorre el puerto y enciende un farol tras otro. Así las barcas "
        "encuentran el camino a casa, aunque la niebla esconda las rocas."
    ),
    "Greek": (
        "Κάθε βράδυ ο φανοκόρος περπατά κατά μήκος του λιμανιού και ανάβει το ένα φανάρι μετά το "
        "άλλο. Τότε οι βάρκες βρίσκουν τον δρόμο για το σπίτι, ακόμη κι όταν η ομίχλη κρύβει τα "
        "βράχια."
    ),
    "Russian": (
        "Каждый вечер фонарщик идёт вдоль гавани и зажигает один фонарь за другим. Тогда лодки "
        "находят дорогу домой, даже когда туман скрывает скалы."
    ),
    "Arabic": (
        "في كل مساء يمشي مشعل المصابيح على طول الميناء ويضيء فانوسًا بعد آخر. عندئذٍ تجد القوارب "
        "طريقها إلى البيت، حتى حين يخفي الضباب الصخور."
    ),
    "Hindi": (
        "हर शाम बत्ती जलाने वाला बंदरगाह के किनारे-किनारे चलता है और एक के बाद एक लालटेन जलाता है। "
        "तब नावें घर का रास्ता ढूँढ़ लेती हैं, भले ही कोहरा चट्टानों को छिपा ले।"
    ),
    "Chinese": (
        "每天傍晚，点灯人沿着港口走，把灯笼一盏一盏地点亮。这样，即使雾遮住了礁石，船也能找到回家的路。"
    ),
}
