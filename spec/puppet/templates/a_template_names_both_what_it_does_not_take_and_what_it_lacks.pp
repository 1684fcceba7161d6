notify { inline_epp("<%- | \$port | -%>\n<%= \$port %>", { 'prt' => 80 }): }
