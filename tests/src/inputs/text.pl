use strict; use warnings;
my %count; open my $file, '<', 'short.txt' or die; while (<$file>) { $count{lc $_}++ for /\w+/g }
print "$_=$count{$_}\n" for (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0..9];
(my $title = "the quick brown fox") =~ s/(\w+)/\u$1/g; print "$title\n";
printf "%.3f %e %s %b\n", sqrt(2), 1e10 / 3, join(",", map { $_ * 2 } grep { $_ % 2 } 1 .. 9), 10;
eval { die { code => 7 } }; print "caught $@->{code}\n";
local $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; select undef, undef, undef, 3;
$SIG{USR1} = sub { print "signal $_[0]\n" }; kill 'USR1', $$; eval { local $SIG{ALRM} = sub { die "late\n" }; alarm 1; sleep 10 }; print "then $@";
my @sorted = sort { $a->[1] <=> $b->[1] } map { [$_, length] } qw(ccc a bb); print join(" ", map { $_->[0] } @sorted), "\n";
warn "to stderr\n"; exit 3;
