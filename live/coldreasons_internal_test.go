package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/judge"
)

func TestMayGoColdByReason(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  clichain.BackendError
		want bool
	}{
		"process died":            {clichain.BackendError{Reason: clichain.ReasonExit}, true},
		"overloaded":              {clichain.BackendError{Reason: clichain.ReasonOverloaded}, true},
		"tool was used":           {clichain.BackendError{Reason: clichain.ReasonExit, SideEffects: true}, false},
		"another backend follows": {clichain.BackendError{Reason: clichain.ReasonOverloaded, Err: judge.ErrMovedOn}, false},
		"a limit":                 {clichain.BackendError{Reason: clichain.ReasonUsageLimit}, false},
		"canceled":                {clichain.BackendError{Reason: clichain.ReasonCanceled}, false},
		"turn timed out":          {clichain.BackendError{Reason: clichain.ReasonTimeout}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, mayGoCold(&test.err)) })
	}
}
