// Package loopback tells which addresses are of this machine alone.
package loopback

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// HostOf is an address without its port, and without the brackets of an IPv6 address.
func HostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		return host
	}
	if inner, ok := strings.CutPrefix(address, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return inner
		}
	}
	return address
}

// Is reports whether a host, by name or number, is this machine. An address with a zone is not: the zone may be any
// text, also the name of another host.
func Is(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// Parse returns an address HOST:PORT as it is, if the host is of this machine alone.
func Parse(text string) (string, error) {
	host, _, err := net.SplitHostPort(text)
	if err != nil || !Is(host) {
		return "", errors.New("write an address of this machine alone, such as 127.0.0.1:8080")
	}
	return text, nil
}
