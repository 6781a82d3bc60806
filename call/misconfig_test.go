package call

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigError(t *testing.T) {
	err := ConfigErrorf("config.binary", "no such file: %w", fs.ErrNotExist)
	require.EqualError(t, err, "bad_option (config.binary): no such file: file does not exist")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, err, ErrBadOption)
	require.Equal(t, -1, err.ExitCode)
	require.Equal(t, StageSkipped, err.Stage)
}

// Only invalid settings are a misconfiguration: other failures of the same class, and of other backends, are not.
func TestMisconfigured(t *testing.T) {
	invalid := Attempt{Backend: "i", Reason: ReasonBadOption, Skipped: true, Err: ConfigErrorf("config.binary", "no")}
	chain := func(attempts ...Attempt) error { return &ChainError{Attempts: attempts} }
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"none", nil, false},
		{"other error", errors.New("hm"), false},
		{"invalid request", Errorf(ReasonBadOption, "dir", "no"), false},
		{"invalid settings", invalid.Err, true},
		{"wrapped", fmt.Errorf("x: %w", invalid.Err), true},
		{"settings of the chain", &ChainError{Cause: invalid.Err}, true},
		{"settings of the chain, after an attempt", &ChainError{Cause: invalid.Err, Attempts: []Attempt{failedAttempt("a", ReasonExit, false)}}, true},
		{"canceled chain", &ChainError{Cause: Errorf(ReasonCanceled, "", ""), Attempts: []Attempt{invalid}}, false},
		{"chain without backends", chain(), false},
		{"all backends", chain(invalid, invalid), true},
		{"one backend, and another is not installed", chain(failedAttempt("a", ReasonNotInstalled, true), invalid), true},
		{"one backend, and another failed", chain(invalid, failedAttempt("a", ReasonExit, false)), false},
		{"one backend, and another refused the request", chain(invalid, failedAttempt("a", ReasonBadRequest, true)), false},
		{"other failures", chain(failedAttempt("a", ReasonExit, false)), false},
		{"other skips", chain(failedAttempt("a", ReasonCoolingDown, true)), false},
		{"chain in a chain", chain(Attempt{Reason: ReasonBadOption, Skipped: true, Err: chain(invalid)}), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Misconfigured(test.err))
			a := Attempt{Reason: ReasonBadOption, Err: test.err}
			require.Equal(t, !test.want, a.StopsChain(), "another backend may have valid settings")
		})
	}
	require.False(t, failedAttempt("a", ReasonExit, false).StopsChain())
}
