module MMixin
  def create_parameters
    attributes = [:name, :value]
    attributes.each { |attribute| newparam(attribute) }
  end
end

Puppet::Type.newtype(:m_mixin) do
  extend MMixin

  create_parameters
end
