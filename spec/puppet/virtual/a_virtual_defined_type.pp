define d { notify { $title: } }
@d { 'a': }
@d { 'b': }
realize D['b']
