Puppet::Type.newtype(:m_loop) do
  newparam(:name, :namevar => true)
  newproperty(:size)

  [:user, :project].each do |p|
    newparam(p) do
      desc 'One of two.'
    end
  end
end
