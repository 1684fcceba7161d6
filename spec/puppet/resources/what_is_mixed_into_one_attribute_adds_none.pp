m_plain { 'a': sise => 1 }
