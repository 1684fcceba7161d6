# What the regular expressions of Ruby find: one line for each line of the input, which is a JSON array of an
# expression and a text. The answer is `refused`, `too slow`, `nothing`, or a JSON array of what was found.
require 'json'
require 'timeout'

$VERBOSE = nil
$stdin.each_line do |line|
  source, text = JSON.parse(line)
  begin
    found = Timeout.timeout(1) { Regexp.new(source).match(text) }
    puts(found ? JSON.generate(found.to_a) : 'nothing')
  rescue RegexpError
    puts 'refused'
  rescue Timeout::Error
    puts 'too slow'
  end
end
