// Package loopback recognizes addresses that only this machine can reach.
package loopback

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// HostOf returns the host of an address without the port and without the brackets of an IPv6 address.
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

// Is reports whether a host name or IP address is loopback. An address with a zone is not, because the zone may be any
// text.
func Is(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// Parse returns an address HOST:PORT unchanged, or an error unless the host is loopback.
func Parse(text string) (string, error) {
	host, _, err := net.SplitHostPort(text)
	if err != nil || !Is(host) {
		return "", errors.New("write an address of this machine alone, such as 127.0.0.1:8080")
	}
	return text, nil
}
