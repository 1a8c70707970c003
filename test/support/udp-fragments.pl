# Sends one UDP datagram in fragments made by hand. Arguments: source, destination, port, how:
#   tiny      the first fragment has the header alone
#   reversed  the first fragment comes last
#   headless  the first fragment does not come
#   PORT      after the first fragment comes another one for the same place, with this port
use strict;
use Socket;

my ($from, $to, $port, $how) = @ARGV;
my $body = "x" x 24;
my $id = 1 + int rand 65534;
my $header = sub { pack "nnnn", 20000, shift, 8 + length $body, 0 };
my $more = 0x2000;

# A place in units of eight bytes, with the flag of more to come, and what is there.
my @fragments = ([$more, $header->($port)], [$more | 1, substr $body, 0, 16], [3, substr $body, 16]);
@fragments = reverse @fragments if $how eq "reversed";
shift @fragments if $how eq "headless";
splice @fragments, 1, 0, [$more, $header->($how)] if $how =~ /^\d+$/;

socket my $socket, PF_INET, SOCK_RAW, 255 or die "socket: $!";
for (@fragments) {
  my ($place, $bytes) = @$_;
  my $packet = pack "CCnnnCCna4a4", 0x45, 0, 20 + length $bytes, $id, $place, 64, 17, 0, inet_aton($from), inet_aton($to);
  send $socket, $packet . $bytes, 0, sockaddr_in(0, inet_aton $to) or die "send: $!";
}
