# What the real compiler makes of calls: one line for each, in the order in which they are read.
#
# Each line of the input is an expression, with `\n` for the end of a line in it. The answer is `ok` and the value
# with its type, or `refused` and why. The arguments are the directories of modules.
require 'puppet'
require 'puppet/pops'

STDOUT.set_encoding('UTF-8')
STDIN.set_encoding('UTF-8')
$VERBOSE = nil
ENV['STDLIB_LOG_DEPRECATIONS'] = 'false'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet[:strict] = :off
Puppet[:strict_variables] = false
Puppet::Util::Log.level = :crit

Types = Puppet::Pops::Types

def text(text)
  '"' + text.each_char.map { |c| c.ord < 32 || c == '"' || c == '\\' ? format('\\x%02x', c.ord) : c }.join + '"'
end

def shown(value)
  case value
  when nil then 'undef'
  when :default then 'default'
  when SemanticPuppet::Version then "SemVer(#{value})"
  when SemanticPuppet::VersionRange then "SemVerRange(#{value})"
  when Puppet::Pops::Time::TimeData then "#{value.class.name.split('::').last}(#{value})"
  when URI then "URI(#{value})"
  when true, false, Numeric then value.to_s
  when String
    value = value.dup.force_encoding('UTF-8')
    value.valid_encoding? ? text(value) : raise(ArgumentError, 'no text')
  when Regexp then "/#{value.source}/"
  when Types::PSensitiveType::Sensitive then "Sensitive(#{shown(value.unwrap)})"
  when Types::PBinaryType::Binary then "Binary(#{value})"
  when Types::PAnyType then value.to_s
  when Array then "[#{value.map { |it| shown(it) }.join(', ')}]"
  when Hash then "{#{value.map { |k, v| "#{shown(k)} => #{shown(v)}" }.join(', ')}}"
  when Types::Iterable then shown(value.to_a)
  when Puppet::Resource then "#{value.type}['#{value.title}']"
  else "#{value.class.name.split('::').last}(#{value})"
  end
end

modules = ARGV.map { |path| File.expand_path(path) }
facts = { 'networking' => { 'fqdn' => 'Web1.example.com', 'hostname' => 'web1' }, 'fqdn' => 'Web1.example.com',
          'operatingsystem' => 'Debian', 'operatingsystemmajrelease' => '12',
          'os' => { 'name' => 'Debian', 'release' => { 'major' => '12' } }, 'list' => ['a', { 'b' => 'c' }],
          'interfaces' => 'lo,eth0', 'ipaddress' => '10.0.0.1', 'ipaddress_eth0' => '10.0.0.1',
          'network_eth0' => '10.0.0.0' }
environment = Puppet::Node::Environment.create(:production, modules)
node = Puppet::Node.new('web1', facts: Puppet::Node::Facts.new('web1', facts), environment: environment)
node.merge(facts)
Puppet.override(current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment)) do
  parser = Puppet::Pops::Parser::EvaluatingParser.new
  scope = nil
  STDIN.each_line do |line|
    source = line.chomp.gsub('\\N', "\n")
    answer = begin
      # What is declared stays in the catalog, so such calls get one of their own.
      if scope.nil? || source.include?('ensure_')
        compiler = Puppet::Parser::Compiler.new(node)
        scope = compiler.topscope
        compiler.send(:set_node_parameters)
        # Only `Class[main]` gives the top its `$title`.
        compiler.send(:evaluate_main)
      end
      Puppet.override(global_scope: scope) { "ok #{shown(parser.evaluate_string(scope, source))}" }
    rescue StandardError, ScriptError, SystemStackError => e
      "refused #{e.message.lines.first}"
    end
    puts answer.gsub("\n", ' ')
  end
end
