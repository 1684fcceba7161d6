# Stands for another compiler of Puppet, for which everything is a notification that says `bye`.
case "$1" in
*/greeting.pp) echo '{"resources": [{"type": "Notify", "title": "bye"}]}' ;;
*) echo 'Error: Unknown function' >&2; exit 1 ;;
esac
