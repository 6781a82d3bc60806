package live

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// toolsThatFail are functions that cannot begin.
type toolsThatFail struct{ err error }

func (f toolsThatFail) Begin(context.Context) (context.Context, func() error, error) {
	return nil, nil, f.err
}

// Without its functions, a session does not ask its CLI.
func TestSessionWithoutItsTools(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := sessionIn(Running, &Config{Tools: toolsThatFail{broken}})
	_, err := s.process(t.Context())
	require.ErrorIs(t, err, broken)
	resp, failed := s.ask(nil, observed(t, t.Context()))
	require.Nil(t, resp)
	require.ErrorIs(t, failed, broken)
	require.Equal(t, "b", failed.Backend)
}
