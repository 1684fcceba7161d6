# Whether the note is there depends on when the body of the defined type runs.
define look { notify { $title: message => defined(Notify['note']) } }
look { 'look': }
notify { 'note': }
