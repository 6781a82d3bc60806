package cooldown_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
)

// embedder embeds a Provider without an Unwrap method.
type embedder struct{ *clichain.Provider }

// delegate wraps another wrapper, and embeds nothing.
type delegate struct{ clichain.Backend }

func (d delegate) Unwrap() clichain.Backend { return d.Backend }

// A chain uses its knowledge of a Provider only for a wrapper with Unwrap. Promoted methods of a type that embeds a
// Provider have no effect.
func TestUnwrapLeadsToTheProvider(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program that does nothing: ", err)
	}
	spec := clichain.CliSpec{Name: "mini", Binary: "mini", ProviderSlug: "acme"}
	p := clichain.NewProvider(spec, &clichain.Config{Binary: program})
	key := chaintest.CooldownKey(p, "")
	require.Contains(t, key, "mini@")
	invalid := clichain.NewProvider(clichain.CliSpec{Name: "invalid"}, nil)
	for _, test := range []struct {
		name    string
		of      func(*clichain.Provider) clichain.Backend
		key     string
		unwraps bool
	}{
		{"a Provider", func(p *clichain.Provider) clichain.Backend { return p }, key, true},
		{"a wrapper", func(p *clichain.Provider) clichain.Backend { return chaintest.Wrapper{Provider: p} }, key, true},
		{"a wrapper of a wrapper", func(p *clichain.Provider) clichain.Backend { return delegate{chaintest.Wrapper{Provider: p}} }, key, true},
		{"an embedder", func(p *clichain.Provider) clichain.Backend { return embedder{p} }, "mini", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.of(p)
			require.Equal(t, test.key, chaintest.CooldownKey(b, ""))
			other := clichain.BackendFunc("other", nil)
			chain := clichain.ChainOf([]clichain.Backend{other, b}, nil)
			request := clichain.Prompt("hi")
			request.Model = "acme/model" // by the slug of the spec
			err := chain.Check(t.Context(), other, request)
			if test.unwraps {
				require.ErrorIs(t, err, clichain.ErrModelMismatch)
			} else {
				require.NoError(t, err)
			}
			err = clichain.ChainOf([]clichain.Backend{test.of(invalid)}, nil).Validate()
			if test.unwraps {
				require.ErrorContains(t, err, "invalid")
			} else {
				require.NoError(t, err)
			}
		})
	}
}
