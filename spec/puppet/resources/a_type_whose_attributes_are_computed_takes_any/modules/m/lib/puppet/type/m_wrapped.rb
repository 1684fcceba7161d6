Puppet::Type.newtype(:m_wrapped) do
  def self.newcheck(name, &block)
    newparam(name, &block)
  end

  ensurable
  newparam(:name)
  newcheck(:exit_code)
end
