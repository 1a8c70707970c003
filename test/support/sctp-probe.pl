# Sends one SCTP INIT and prints whether it reached the other machine, which answers it, or refuses the protocol as a kernel
# without SCTP does: `reached` or `timeout`. Arguments: address, port, source address or "", milliseconds to wait.
use strict;
use Socket;

my ($host, $port, $from, $wait_ms) = @ARGV;

sub crc32c {
  my $crc = 0xffffffff;
  for my $byte (unpack "C*", shift) {
    $crc ^= $byte;
    $crc = $crc & 1 ? ($crc >> 1) ^ 0x82f63b78 : $crc >> 1 for 1 .. 8;
  }
  return $crc ^ 0xffffffff;
}

my $init = pack "CCnNNnnN", 1, 0, 20, 1 + int rand 1e9, 65536, 1, 1, 1;
my $ports = pack "nnN", 20000 + int(rand 20000), $port, 0;
my $sum = pack "V", crc32c($ports . "\0\0\0\0" . $init);
socket my $socket, PF_INET, SOCK_RAW, 132 or die "socket: $!";
if ($from ne "") { bind $socket, sockaddr_in(0, inet_aton $from) or die "bind: $!" }
connect $socket, sockaddr_in(0, inet_aton $host) or die "connect: $!";
send $socket, $ports . $sum . $init, 0;
my $ready = "";
vec($ready, fileno $socket, 1) = 1;
my $count = select $ready, undef, undef, $wait_ms / 1000;
print $count > 0 ? "reached" : "timeout";
