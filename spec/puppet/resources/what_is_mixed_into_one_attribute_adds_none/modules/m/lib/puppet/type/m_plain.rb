module MHelp
end

Puppet::Type.newtype(:m_plain) do
  include Puppet::Util
  # Not newparam(computed), nor extend anything.
  newparam(:name)
  newproperty(:size) do
    include MHelp
  end
end
