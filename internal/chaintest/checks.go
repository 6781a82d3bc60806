package chaintest

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// RequireReason fails the test unless err is a BackendError with the reason, and returns it.
func RequireReason(t *testing.T, want clichain.Reason, err error) *clichain.BackendError {
	t.Helper()
	var be *clichain.BackendError
	require.ErrorAs(t, err, &be)
	require.Equal(t, want, be.Reason, "%v", err)
	return be
}

// RequireNothingShared fails if a copy shares memory with its original. Every field must be set.
func RequireNothingShared(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			RequireNothingShared(t, a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Map, reflect.Pointer:
		require.NotZero(t, a.Len(), "%s is not set, so it is not tested", path)
		require.NotEqual(t, a.UnsafePointer(), b.UnsafePointer(), path)
		require.Equal(t, a.Interface(), b.Interface(), path)
		if a.Kind() == reflect.Map {
			for _, key := range a.MapKeys() {
				RequireNothingShared(t, a.MapIndex(key), b.MapIndex(key), path)
			}
			return
		}
		RequireNothingShared(t, a.Index(0), b.Index(0), path)
	}
}

// InTime calls try with the timeout, and with longer ones while try returns false because the CLI did too little before
// the timeout. A busy machine starts a CLI slowly.
func InTime(t *testing.T, timeout time.Duration, try func(timeout time.Duration) bool) {
	t.Helper()
	for ; !try(timeout); timeout *= 4 {
		require.Less(t, timeout, time.Minute, "no timeout is long enough")
	}
}
