"""One text in many languages: article 1 of the Universal Declaration of Human Rights (1948).

Source: United Nations, Office of the High Commissioner for Human Rights, which publishes it in more
than five hundred languages.
"""

ARTICLE_1 = {
    "English": (
        "All human beings are born free and equal in dignity and rights. They are "
        "endowed with reason and conscience and should act towards one another in a "
        "spirit of brotherhood."
    ),
    "French": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils "
        "sont doués de raison et de conscience et doivent agir les uns envers les "
        "autres dans un esprit de fraternité."
    ),
    "German": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit "
        "Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit "
        "begegnen."
    ),
    "Spanish": (
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, "
        "dotados como están de razón y conciencia, deben comportarse fraternalmente los "
        "unos con los otros."
    ),
    "Greek": (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα "
        "δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να "
        "συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης."
    ),
    "Russian": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они "
        "наделены разумом и совестью и должны поступать в отношении друг друга в духе "
        "братства."
    ),
    "Chinese": (
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
    ),
    "Arabic": (
        "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا "
        "وعليهم أن يعامل بعضهم بعضًا بروح الإخاء."
    ),
    "Hindi": (
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता "
        "प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें "
        "भाईचारे के भाव से बर्ताव करना चाहिए।"
    ),
}
