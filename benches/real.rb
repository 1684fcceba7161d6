# The real compiler of Puppet, measured beside Hence: compiles the catalogs of nodes one after the other in one
# process, and prints each on a line in the shape that `hence compile` prints.
#
# usage: ruby real.rb MANIFEST [--modules DIR] [--facts DIR] NODE…
#
# Each node gets an environment of its own, as it does by default (`environment_timeout = 0`): nothing that was written
# is read in an old version. Ruby, the compiler and all that it loads stay as they are.
require 'json'
require 'optparse'
require 'tmpdir'
require 'fileutils'
require 'puppet'

modules, facts = nil
manifest, *nodes = OptionParser.new do |options|
  options.on('--modules DIR') { |directory| modules = File.expand_path(directory) }
  options.on('--facts DIR') { |directory| facts = directory }
end.parse(ARGV)

home = Dir.mktmpdir('hence-bench')
at_exit { FileUtils.rm_rf(home) }
places = %w[conf var run log code].map { |kind| "--#{kind}dir=#{home}/#{kind}" }
Puppet.initialize_settings(places + ['--certname', 'hence.invalid'])
Puppet[:strict] = :off
Puppet[:strict_variables] = false
Puppet::Util::Log.level = :err
Puppet::Util::Log.newdestination(:console)

def compiled(name, own, environment)
  host = name.split('.').first
  told = { 'hostname' => host, 'fqdn' => name, 'clientcert' => name,
           'networking' => { 'hostname' => host, 'fqdn' => name } }
  node = Puppet::Node.new(name, facts: Puppet::Node::Facts.new(name, told.merge(own)), environment: environment)
  node.merge(node.facts.values)
  trusted = Puppet::Context::TrustedInformation.new('remote', name, {})
  node.trusted_data = trusted.to_h
  context = { current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment),
              environments: Puppet::Environments::Static.new(environment),
              trusted_information: trusted, rich_data: false }
  Puppet.override(context) { Puppet::Parser::Compiler.compile(node).filter(&:virtual?).to_data_hash }
end

def shown(whole)
  resources = whole['resources'].map do |resource|
    { 'type' => resource['type'], 'title' => resource['title'], 'parameters' => resource['parameters'] || {} }
  end
  { 'resources' => resources, 'edges' => whole['edges'].map { |edge| [edge['source'], edge['target']] },
    'classes' => whole['classes'] }
end

nodes.each do |name|
  own = facts ? JSON.parse(File.read(File.join(facts, "#{name}.json"))) : {}
  environment = Puppet::Node::Environment.create(:production, [modules].compact, File.expand_path(manifest))
  puts JSON.generate(shown(compiled(name, own, environment)))
end
