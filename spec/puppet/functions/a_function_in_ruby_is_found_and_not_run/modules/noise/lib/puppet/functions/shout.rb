Puppet::Functions.create_function(:shout) do
  # It fails, so that both compilers refuse the manifest.
  def shout(text)
    raise Puppet::ParseError, "Unknown function within 'shout'"
  end
end
