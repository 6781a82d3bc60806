package openai

import (
	"net"
	"net/netip"
	"strings"
)

// isLoopback reports whether the Host header of a request names this machine, with or without a port. An address with a
// zone does not: the zone can be any text, such as the name of another host.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}
