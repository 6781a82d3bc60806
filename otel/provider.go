package otel

import (
	"cmp"
	"strings"

	"github.com/clichain/clichain"
)

// providersOf are the providers of a backend and of those inside it, by the backends'
// names: of those that run a CLI, or a process that is kept.
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

// providerName is a slug such as "anthropic-cli" as a value of gen_ai.provider.name. One
// that the conventions do not have stays as it is, without the "-cli".
func providerName(slug string) string {
	name := strings.TrimSuffix(slug, "-cli")
	return cmp.Or(conventionNames[name], name)
}

// conventionNames are the names of providers which the conventions call otherwise.
var conventionNames = map[string]string{
	"google": "gcp.gen_ai", "xai": "x_ai", "mistral": "mistral_ai",
}
