# What the real parser makes of texts: one line for each, in the order in which they are read.
#
# Each line of the input is `manifest` or `template`, a blank, and a text as a JSON string, or the path of a
# file behind an `@`. The answer is `ok` and the outline of the syntax, or `refused` and why.
require 'json'
require 'puppet'
require 'puppet/pops'

Puppet.initialize_settings(%w[--confdir /nonexistent --vardir /nonexistent])
Puppet[:strict] = :off
Puppet::Util::Log.level = :crit

# Ruby has opinions about regular expressions that nobody reads here.
$VERBOSE = nil

M = Puppet::Pops::Model

class Outline
  def initialize
    @definitions = []
  end

  def program(program)
    body = program.body
    head = ''
    if body.is_a?(M::LambdaExpression) && body.body.is_a?(M::EppExpression)
      head = parameters(body.parameters) + ' ' if body.body.parameters_specified
      body = body.body.body
    end
    first = head + block(body)
    ([first] + @definitions.sort_by(&:first).map(&:last)).join(' ')
  end

  def block(body)
    '(' + ['do', *statements(body)].join(' ') + ')'
  end

  def statements(body)
    case body
    when nil, M::Nop then []
    when M::BlockExpression then body.statements.map { |one| outline(one) }.compact
    else [outline(body)].compact
    end
  end

  def text(text)
    escaped = text.each_char.map do |character|
      case character
      when '"' then '\\"'
      when '\\' then '\\\\'
      when "\0".."\x1f" then format('\\x%02x', character.ord)
      else character
      end
    end
    '"' + escaped.join + '"'
  end

  def node(word, *inner)
    '(' + [word, *inner.compact].join(' ') + ')'
  end

  def pair(key, value)
    "( #{outline(key)} #{outline(value)})"
  end

  def relative(name)
    name.downcase.sub(/\A::/, '')
  end

  def define(object, *outline)
    @definitions << [object.offset, node(*outline)]
    'nothing'
  end

  def parameters(list)
    node('parameters', *list.map do |parameter|
      node(parameter.captures_rest ? 'rest' : 'parameter', text(parameter.name),
           parameter.type_expr && node('type', outline(parameter.type_expr)),
           parameter.value && node('default', outline(parameter.value)))
    end)
  end

  def returns(type)
    type && node('returns', outline(type))
  end

  def attributes(list)
    list.map do |one|
      case one
      when M::AttributesOperation then node('all', outline(one.expr))
      else node(one.operator == '+>' ? 'add' : 'set', text(one.attribute_name), outline(one.value_expr))
      end
    end
  end

  def query(query)
    case query
    when M::ParenthesizedExpression then query(query.expr)
    when M::AndExpression then node('and', query(query.left_expr), query(query.right_expr))
    when M::OrExpression then node('or', query(query.left_expr), query(query.right_expr))
    when M::ComparisonExpression
      node("test#{query.operator}", text(query.left_expr.value), outline(query.right_expr))
    else raise "no query: #{query.class}"
    end
  end

  def lambda_of(call)
    body = call.lambda
    body && node('lambda', parameters(body.parameters), returns(body.return_type), block(body.body))
  end

  def all(list)
    list.map { |one| outline(one) }
  end

  def outline(one)
    case one
    when nil, M::Nop then 'nothing'
    when M::LiteralUndef then 'undef'
    when M::LiteralDefault then 'default'
    when M::LiteralBoolean then one.value.to_s
    when M::LiteralInteger then one.value.to_s
    when M::LiteralFloat then "(float #{[one.value].pack('G').unpack1('Q>')})"
    when M::RenderStringExpression then one.value.empty? ? nil : node('render-text', text(one.value))
    when M::LiteralString then text(one.value)
    when M::QualifiedName then node('name', text(one.value))
    when M::QualifiedReference then node('reference', text(relative(one.cased_value)))
    when M::LiteralRegularExpression then node('pattern', text(one.value.source))
    when M::VariableExpression then node('variable', text(one.expr.value.to_s))
    when M::ConcatenatedString
      pieces = one.segments.reject { |piece| piece.is_a?(M::LiteralString) && piece.value.empty? }
      node('interpolated', *all(pieces))
    when M::TextExpression then outline(one.expr)
    when M::HeredocExpression then node('heredoc', text(one.syntax), outline(one.text_expr))
    when M::LiteralList then node('array', *all(one.values))
    when M::LiteralHash then node('hash', *one.entries.map { |entry| pair(entry.key, entry.value) })
    when M::ParenthesizedExpression then node('paren', outline(one.expr))
    when M::NotExpression then node('not', outline(one.expr))
    when M::UnaryMinusExpression then node('minus', outline(one.expr))
    when M::UnfoldExpression then node('splat', outline(one.expr))
    when M::InExpression then node('in', outline(one.left_expr), outline(one.right_expr))
    when M::AndExpression then node('and', outline(one.left_expr), outline(one.right_expr))
    when M::OrExpression then node('or', outline(one.left_expr), outline(one.right_expr))
    when M::ArithmeticExpression, M::ComparisonExpression, M::MatchExpression, M::AssignmentExpression,
         M::RelationshipExpression
      node(one.operator, outline(one.left_expr), outline(one.right_expr))
    when M::AccessExpression then node('access', outline(one.left_expr), *all(one.keys))
    when M::CallMethodExpression
      node('method', outline(one.functor_expr.right_expr), outline(one.functor_expr.left_expr),
           *all(one.arguments), lambda_of(one))
    when M::CallNamedFunctionExpression
      node('call', outline(one.functor_expr), *all(one.arguments), lambda_of(one))
    when M::IfExpression
      otherwise = statements(one.else_expr)
      node(one.is_a?(M::UnlessExpression) ? 'unless' : 'if', outline(one.test), block(one.then_expr),
           otherwise.empty? ? nil : node('do', *otherwise))
    when M::CaseExpression
      node('case', outline(one.test),
           *one.options.map { |option| node('when', *all(option.values), block(option.then_expr)) })
    when M::SelectorExpression
      node('select', outline(one.left_expr),
           *one.selectors.map { |entry| pair(entry.matching_expr, entry.value_expr) })
    when M::ResourceExpression
      node('resource', one.form, outline(one.type_name),
           *one.bodies.map { |body| node('body', outline(body.title), *attributes(body.operations)) })
    when M::ResourceDefaultsExpression
      node('defaults', outline(one.type_ref), *attributes(one.operations))
    when M::ResourceOverrideExpression
      node('override', outline(one.resources), *attributes(one.operations))
    when M::CollectExpression
      asked = one.query.expr
      node(one.query.is_a?(M::ExportedQuery) ? 'collect-exported' : 'collect', outline(one.type_expr),
           asked.nil? || asked.is_a?(M::Nop) ? nil : query(asked), *attributes(one.operations))
    when M::RenderExpression then node('render', outline(one.expr))
    when M::BlockExpression then block(one)
    when M::HostClassDefinition
      define(one, 'class', text(relative(one.name)),
             one.parent_class && node('inherits', text(relative(one.parent_class))),
             parameters(one.parameters), block(one.body))
    when M::ResourceTypeDefinition
      define(one, 'define', text(relative(one.name)), parameters(one.parameters), block(one.body))
    when M::NodeDefinition
      define(one, 'node', *all(one.host_matches), block(one.body))
    when M::FunctionDefinition
      define(one, 'function', text(relative(one.name)), parameters(one.parameters),
             returns(one.return_type), block(one.body))
    when M::TypeAlias
      define(one, 'alias', text(relative(one.name)), outline(one.type_expr))
    else raise "no outline of #{one.class}"
    end
  end
end

manifests = Puppet::Pops::Parser::EvaluatingParser.new
templates = Puppet::Pops::Parser::EvaluatingParser::EvaluatingEppParser.new
$stdin.each_line do |line|
  kind, quoted = line.chomp.split(' ', 2)
  text = quoted.start_with?('@') ? File.read(quoted[1..-1], encoding: 'utf-8') : JSON.parse("[#{quoted}]").first
  answer =
    begin
      parser = kind == 'template' ? templates : manifests
      'ok ' + Outline.new.program(parser.parse_string(text, ''))
    rescue StandardError, SystemStackError => e
      'refused ' + e.message.lines.first.to_s.chomp
    end
  puts answer.gsub("\n", '\\n')
end
