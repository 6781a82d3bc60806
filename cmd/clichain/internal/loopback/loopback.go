// Package loopback tells which addresses are of this machine alone.
package loopback

import (
	"cmp"
	"net"
	"net/netip"
	"strings"
)

// HostOf is an address without its port.
func HostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return host
}

// Is reports whether a host, by name or number, is this machine.
func Is(host string) bool {
	ip, err := netip.ParseAddr(cmp.Or(host, "-"))
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
