package mcpserver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// callerOf returns the spec of the CLI that is the client: the one of --caller, or the one that introduces itself to
// MCP servers with this name.
func (s *server) callerOf(client string) (clichain.CliSpec, error) {
	for _, spec := range s.specs {
		if spec.Name == s.caller || s.caller == "" && matches(spec.MCPClients, client) {
			return spec, nil
		}
	}
	return clichain.CliSpec{}, call.Errorf(clichain.ReasonUnsupported, "",
		"the vendor of the MCP client %.100q is unknown: let the operator start clichain mcp with --caller NAME, "+
			"or use the tool ask", client)
}

// matches reports whether a name is in a list, in which a trailing "*" makes a prefix.
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		prefix, isPrefix := strings.CutSuffix(entry, "*")
		return entry == name || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// otherVendors returns the backends of other vendors than that of the caller, in their order. Backends without a vendor
// come last, because the vendor of their model is unknown. Other instances of the caller's CLI are never included.
func otherVendors(all []backend, caller clichain.CliSpec) []backend {
	var known, unknown []backend
	for _, b := range all {
		switch {
		case cmp.Or(b.spec.InstanceOf, b.spec.Name) == cmp.Or(caller.InstanceOf, caller.Name):
		case b.spec.Vendor == "":
			unknown = append(unknown, b)
		case b.spec.Vendor != caller.Vendor:
			known = append(known, b)
		}
	}
	return append(known, unknown...)
}

// vendorText names the vendor of a spec, or else its CLI.
func vendorText(spec clichain.CliSpec) string { return cmp.Or(spec.Vendor, spec.Name) }
