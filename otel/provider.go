package otel

import (
	"cmp"
	"strings"

	"github.com/clichain/clichain"
)

// providersOf maps the names of a backend and its inner backends to their providers. It includes the backends that run
// a CLI and those that keep a process.
func providersOf(b clichain.Backend) map[string]string {
	found := map[string]string{}
	var look func(clichain.Backend)
	look = func(b clichain.Backend) {
		switch b := b.(type) {
		case *backend:
			look(b.asked)
		case interface{ Backends() []clichain.Backend }:
			for _, inside := range b.Backends() {
				look(inside)
			}
		case interface{ Spec() clichain.CliSpec }:
			found[b.(clichain.Backend).Name()] = providerName(b.Spec().ProviderSlug)
		}
	}
	look(b)
	return found
}

// providerName converts a slug such as "anthropic-cli" to a value of gen_ai.provider.name. It removes the suffix "-cli"
// from a name that the conventions lack.
func providerName(slug string) string {
	name := strings.TrimSuffix(slug, "-cli")
	return cmp.Or(conventionNames[name], name)
}

// conventionNames maps providers to the different names that the conventions use.
var conventionNames = map[string]string{
	"google": "gcp.gen_ai", "xai": "x_ai", "mistral": "mistral_ai",
}
