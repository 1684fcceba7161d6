#!/usr/bin/env bash
# Makes the databases beside it; the README says with which tools. Each format is also saved by programs that people use.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C.UTF-8 QT_QPA_PLATFORM=offscreen

perl make.pl

cp aes-3.1.kdbx keepassxc-3.1.kdbx
cp argon2id-chacha20-4.1.kdbx keepassxc-4.0.kdbx
for saved in keepassxc-*.kdbx; do
  keepassxc-cli edit -q -u mary "$saved" entry-1 <<<'correct horse'
done

# pykeepass leaves a hash of the header in KDBX 3.1 that is not true any more, and KeePassXC refuses the file.
# Version 1.0 of Argon2 is what the other tools do not write.
"${PYTHON:-python3}" - <<'PYTHON'
from pykeepass import PyKeePass
password = "Grüße 世界 🔑"
database = PyKeePass("paper-3.1.kdbx", password=password)
database.save("stale-header-hash.kdbx")
meta = database.tree.find("Meta")
meta.remove(meta.find("HeaderHash"))
database.save("pykeepass-3.1.kdbx")
database = PyKeePass("paper-4.0.kdbx", password=password)
database.kdbx.header.value.dynamic_header.kdf_parameters.data.dict.V.value = 0x10
database.save("pykeepass-4.0.kdbx")
PYTHON

perl -MFile::KeePass -e '
  my $database = File::KeePass->new;
  my $group = $database->add_group({title => "Web"});
  $database->add_entry({title => "entry-1", username => "mary", password => "secret", group => $group->{id}});
  $database->save_db("keepass-1.kdb", "correct horse")'
