# Compiles manifests with the real compiler, for comparison.
#
# Each line of standard input is a request in JSON: file, node, facts, strict, modulepath, hiera. Each answer is
# a line of JSON: the catalog in the shape that `hence compile` prints, or the message of the error.
require 'json'
require 'tmpdir'
require 'fileutils'
require 'puppet'

home = Dir.mktmpdir('hence-real')
at_exit { FileUtils.rm_rf(home) }
places = %w[conf var run log code].map { |kind| "--#{kind}dir=#{home}/#{kind}" }
Puppet.initialize_settings(places + ['--certname', 'hence.invalid'])
Puppet::Util::Log.level = :err
Puppet::Util::Log.close_all

def settings(request)
  strict = request['strict'] || false
  Puppet[:strict] = strict ? :error : :off
  Puppet[:strict_variables] = strict
  Puppet[:hiera_config] = request['hiera'] || File.join(Puppet[:confdir], 'none.yaml')
end

def node_of(request, environment)
  name = request['node']
  host = name.split('.').first
  told = { 'hostname' => host, 'fqdn' => name, 'clientcert' => name,
           'networking' => { 'hostname' => host, 'fqdn' => name } }
  facts = Puppet::Node::Facts.new(name, told.merge(request['facts'] || {}))
  node = Puppet::Node.new(name, facts: facts, environment: environment)
  node.merge(facts.values)
  node
end

def shown(resource)
  shape = { 'type' => resource['type'], 'title' => resource['title'], 'parameters' => resource['parameters'] || {} }
  shape['exported'] = true if resource['exported']
  sensitive = resource['sensitive_parameters'] || []
  shape['sensitive_parameters'] = sensitive unless sensitive.empty?
  shape
end

def catalog(request)
  settings(request)
  environment = Puppet::Node::Environment.create(:production, request['modulepath'] || [], request['file'])
  node = node_of(request, environment)
  trusted = Puppet::Context::TrustedInformation.new('remote', request['node'], {})
  context = { current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment),
              environments: Puppet::Environments::Static.new(environment),
              trusted_information: trusted, rich_data: false }
  Puppet.override(context) do
    node.trusted_data = trusted.to_h
    whole = Puppet::Parser::Compiler.compile(node).filter(&:virtual?).to_data_hash
    { 'resources' => whole['resources'].map { |resource| shown(resource) },
      'edges' => whole['edges'].map { |edge| [edge['source'], edge['target']] },
      'classes' => whole['classes'] }
  end
end

$stdout.sync = true
$stdin.each_line do |line|
  request = JSON.parse(line)
  answer = begin
    { 'catalog' => catalog(request) }
  rescue SystemExit, Interrupt
    raise
  rescue Exception => trouble
    { 'error' => trouble.message.to_s.sub(request['file'], File.basename(request['file'])) }
  end
  puts JSON.generate(answer)
end
