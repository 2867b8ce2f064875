"""Grading worksheets as Moodle's gradingtable.php and its CSV writer make them."""

# PHP puts a cell with a space or a comma in quotation marks, and the file begins with a byte order
# mark.
ENGLISH = (
    "\ufeff"
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 1001","Ada King, Countess ""of"" Lovelace",ada@example.org,'
    '"Submitted for grading",,15.00,Yes,"Monday, 5 October 2026, 11:00 AM",-,\n'
    '"Participant 1002","Zoë Müller-O\'Brien",zoe@example.org,"Submitted for grading - Graded",'
    '8.00,15.00,Yes,"Tuesday, 6 October 2026, 11:00 AM","Wednesday, 7 October 2026, 9:00 AM",'
    '"<p dir=""ltr"">Well\n\ndone, 15</p>"\n'
    '"Participant 1003",".Tim _Under_Score/Slash",TIM@example.org,"Submitted for grading",,15.00,'
    'Yes,"Monday, 5 October 2026, 11:30 AM",-,\n'
    '"Participant 1004","Noor Späth",noor@example.org,"No submission",,15.00,Yes,-,-,\n'
)
# No space in German between the word for a participant and the number.
GERMAN = (
    "\ufeff"
    'ID;"Vollständiger Name";E-Mail-Adresse;Status;Bewertung;Bestwertung;'
    '"Bewertung kann geändert werden";"Zuletzt geändert (Abgabe)";"Zuletzt geändert (Bewertung)";'
    '"Feedback als Kommentar"\r\n'
    'Teilnehmer/in1001;"Ada King, Countess ""of"" Lovelace";ada@example.org;'
    '"Zur Bewertung abgegeben";;15,00;Ja;"Montag, 5. Oktober 2026, 11:00";-;\r\n'
    "Teilnehmer/in1002;Zoë Müller-O'Brien;zoe@example.org;Bewertet;"
    '"8,00";15,00;Ja;"Dienstag, 6. Oktober 2026, 11:00";"Mittwoch, 7. Oktober 2026, 09:00";'
    '"Gut; 15"\r\n'
)
# From Moodle's own tests: two markers, a workflow state, texts. Nothing is in quotation marks.
MARKERS = (
    '"Identifier","Full name","Email address","Status","Marker 1","Marker 2","Grade",'
    '"Maximum grade","Marking workflow state","Grade can be changed","Last modified (submission)",'
    '"Online text","Last modified (grade)","Feedback comments","Marker 1 comment",'
    '"Marker 2 comment"\n'
    '"Participant 1001","Ada","ada@example.org","No submission - Not marked -  - ",10,12,12,15,'
    '"Not marked","Yes","-",5,"-",,7,7\n'
    '"Participant 1002","Zoë","zoe@example.org","No submission - Not marked -  - ",8,12,12,15,'
    '"Not marked","Yes","-",5,"-",,7,7\n'
)
# Fields of the profile, before the status, look like a grade and its maximum.
PROFILE = (
    'Identifier,"Full name","ID number",Department,Status,Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (grade)"\n'
    '"Participant 1001",Ada,,2026,"Submitted for grading",,15.00,Yes,-\n'
    '"Participant 1003",Tim,7,2026,"Submitted for grading",,15.00,Yes,-\n'
)
# Names are hidden from the teacher, so there is only the number.
BLIND = (
    "Identifier,Status,Grade,Maximum grade,Grade can be changed,Last modified (grade)\n"
    "Participant 1001,Submitted for grading,,15.00,Yes,-\n"
    "Participant 1003,Submitted for grading,,15.00,Yes,-"
)
SCALE = (
    'Identifier,"Full name",Status,Grade,Scale,"Grade can be changed","Last modified (grade)"\n'
    '"Participant 1001",Ada,-,,"Poor\nGood",Yes,-\n'
)
