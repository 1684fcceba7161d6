# The real compiler of Puppet, measured beside Hence: compiles the catalogs of nodes one after the other in one
# process, and prints each on a line in the shape that `hence compile` prints.
#
# usage: ruby real.rb MANIFEST [--modules DIR] [--facts DIR] NODE…
#
# The environment is kept from node to node, as a server keeps it: every file is read and parsed once.
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

def catalog(name, own, environment)
  host = name.split('.').first
  told = { 'hostname' => host, 'fqdn' => name, 'clientcert' => name,
           'networking' => { 'hostname' => host, 'fqdn' => name } }
  node = Puppet::Node.new(name, facts: Puppet::Node::Facts.new(name, told.merge(own)), environment: environment)
  node.merge(node.facts.values)
  trusted = Puppet::Context::TrustedInformation.new('remote', name, {})
  whole = Puppet.override(trusted_information: trusted) do
    node.trusted_data = trusted.to_h
    Puppet::Parser::Compiler.compile(node).filter(&:virtual?).to_data_hash
  end
  resources = whole['resources'].map do |resource|
    { 'type' => resource['type'], 'title' => resource['title'], 'parameters' => resource['parameters'] || {} }
  end
  { 'resources' => resources, 'edges' => whole['edges'].map { |edge| [edge['source'], edge['target']] },
    'classes' => whole['classes'] }
end

environment = Puppet::Node::Environment.create(:production, [modules].compact, File.expand_path(manifest))
context = { current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment),
            environments: Puppet::Environments::Static.new(environment), rich_data: false }
Puppet.override(context) do
  nodes.each do |name|
    own = facts ? JSON.parse(File.read(File.join(facts, "#{name}.json"))) : {}
    puts JSON.generate(catalog(name, own, environment))
  end
end
