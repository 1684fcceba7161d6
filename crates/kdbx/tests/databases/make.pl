#!/usr/bin/env perl
# Makes the databases beside it; the README says with which versions of which tools.
use strict;
use warnings;
use utf8;
use File::KDBX;
use File::KDBX::Constants qw(:all);

my $PASSWORD = 'correct horse';

my @ARGON2 = (KDF_PARAM_ARGON2_MEMORY, 64 << 10, KDF_PARAM_ARGON2_ITERATIONS, 2, KDF_PARAM_ARGON2_PARALLELISM, 2,
    KDF_PARAM_ARGON2_VERSION, 0x13);
my %AES = (KDF_PARAM_UUID, KDF_UUID_AES, KDF_PARAM_AES_ROUNDS, 60);
my %ARGON2D = (KDF_PARAM_UUID, KDF_UUID_ARGON2D, @ARGON2);
my %ARGON2ID = (KDF_PARAM_UUID, KDF_UUID_ARGON2ID, @ARGON2);

sub database {
    my ($kdf, $cipher, $version, $compression) = @_;
    my $kdbx = File::KDBX->new;
    $kdbx->kdf_parameters($kdf);
    $kdbx->transform_rounds(60) if $version < KDBX_VERSION_4_0;
    $kdbx->cipher_id($cipher);
    $kdbx->version($version);
    $kdbx->compression_flags($compression);
    $kdbx->inner_random_stream_id($version < KDBX_VERSION_4_0 ? STREAM_ID_SALSA20 : STREAM_ID_CHACHA20);
    $kdbx->root->name('Top');
    return $kdbx;
}

sub save {
    my ($kdbx, $name, $password) = @_;
    $kdbx->dump_file("$name.kdbx", key => $password // $PASSWORD, upgrade => 0, randomize_seeds => 1);
}

# One of everything, the same in every format.
sub everything {
    my $kdbx = database(@_);

    # An old password and an attachment that are protected too stand before what is wanted.
    my $entry = $kdbx->add_entry(title => 'entry-1', username => 'mary', password => 'old secret');
    $entry->binary('key.bin', "\x00\xff\xfe", protect => 1);
    $entry->begin_work;
    $entry->password('secret');
    $entry->commit;
    $entry->string(MyCustom => 'my value');

    my $awkward = $kdbx->add_entry(title => '2nd <entry> & "more"', username => '', password => q{<&>"' ★},
        url => '{REF:U@T:entry-1}', notes => "one\ntwo");
    $awkward->string('zeta field', 'last');
    $awkward->string('Alpha' => value => 'first', protect => 1);

    my $untitled = $kdbx->add_entry(title => '');
    delete $untitled->{strings}{$_} for qw(Title UserName Password URL Notes);

    my $group = $kdbx->add_group(name => 'Web servers');
    $group->add_entry(title => 'größe 世界 🔑', username => 'ümit', password => 'pässwörd');
    my $inner = $group->add_group(name => 'Inner');
    $inner->add_entry(title => 'deep', password => 'deeper');
    $kdbx->add_group(name => 'Empty');

    $kdbx->add_entry(title => 'thrown away', password => 'rubbish')->recycle;
    return $kdbx;
}

save(everything(\%AES, CIPHER_UUID_AES256, KDBX_VERSION_3_1, COMPRESSION_GZIP), 'aes-3.1');
save(everything(\%AES, CIPHER_UUID_TWOFISH, KDBX_VERSION_3_1, COMPRESSION_NONE), 'twofish-3.1');
save(everything(\%AES, CIPHER_UUID_AES256, KDBX_VERSION_4_1, COMPRESSION_GZIP), 'aes-4.1');
save(everything(\%ARGON2D, CIPHER_UUID_AES256, KDBX_VERSION_4_0, COMPRESSION_GZIP), 'argon2d-aes-4.0');
save(everything(\%ARGON2ID, CIPHER_UUID_CHACHA20, KDBX_VERSION_4_1, COMPRESSION_NONE), 'argon2id-chacha20-4.1');
save(everything(\%ARGON2ID, CIPHER_UUID_TWOFISH, KDBX_VERSION_4_0, COMPRESSION_GZIP), 'argon2id-twofish-4.0');

# The example of the paper, under a password that is not ASCII.
sub paper {
    my $kdbx = database(@_);
    $kdbx->add_entry(title => 'entry-1', username => 'mary', password => 'secret')->string(MyCustom => 'my value');
    return $kdbx;
}

save(paper(\%AES, CIPHER_UUID_AES256, KDBX_VERSION_3_1, COMPRESSION_GZIP), 'paper-3.1', 'Grüße 世界 🔑');
save(paper(\%ARGON2D, CIPHER_UUID_AES256, KDBX_VERSION_4_0, COMPRESSION_GZIP), 'paper-4.0', 'Grüße 世界 🔑');

sub small { return database(\%AES, CIPHER_UUID_AES256, KDBX_VERSION_4_0, COMPRESSION_GZIP) }

my $kept = small();
$kept->add_entry(title => 'kept', password => 'rubbish')->recycle;
$kept->recycle_bin_enabled(0);
save($kept, 'recycle-bin-disabled');

my $entries = small();
my $web = $entries->add_group(name => 'Web')->add_group(name => 'Blue-green');
$web->add_entry(title => $_, password => 'secret') for 'a-b', 'a b';
save($entries, 'two-entries');

my $groups = small();
$groups->add_group(name => $_) for '1st', '2st';
save($groups, 'two-groups');

my $both = small();
$both->add_entry(title => 'web', password => 'secret');
$both->add_group(name => 'web');
save($both, 'entry-and-group');

my $fields = small();
my $entry = $fields->add_group(name => 'Web')->add_entry(title => 'a-b', password => 'secret');
$entry->string($_, 'another secret') for 'x y', 'x-y';
save($fields, 'two-fields');
