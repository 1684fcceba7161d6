# Stands for another compiler: it has its own mind about some files.
case "$1" in
*/same.sf) echo '{"a": 1.0, "b": {"x": 1, "y": 2}, "r": "$.b:x"}' ;;
*/order.sf) echo '{"b": 2, "a": 1}' ;;
*/value.sf) echo '{"a": 1, "b": {"c": [1, 3]}}' ;;
*/error.sf) echo '{"a": null}' ;;
*/rule.sf) echo 'error: err1: not a store' >&2; exit 1 ;;
*/words.sf) echo 'all is well' ;;
*/slow.sf) exec sleep 60 ;;
esac
