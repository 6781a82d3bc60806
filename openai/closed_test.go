package openai_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai"
)

// unwritable is a connection whose client reads nothing, so that each write or flush fails after its time limit.
type unwritable struct {
	*httptest.ResponseRecorder
	writes error
}

func (u unwritable) Write(data []byte) (int, error) { return len(data), u.writes }
func (u unwritable) FlushError() error              { return errors.New("timeout") }

// TestUnreadStreamEnds checks that a failed write ends the call, although the context of the request does not end.
func TestUnreadStreamEnds(t *testing.T) {
	for name, writes := range map[string]error{"write": errors.New("timeout"), "flush": nil} {
		t.Run(name, func(t *testing.T) {
			deltas := 0
			backend := says(strings.Split(strings.Repeat("x ", 100), " ")...)
			backend.yielded = func(e clichain.Event) {
				if e.Kind == clichain.EventDelta {
					deltas++
				}
			}
			handler := openai.NewHandler(backend, &openai.Config{Token: token})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+chat, strings.NewReader(streamHi))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			handler.ServeHTTP(unwritable{httptest.NewRecorder(), writes}, r)
			require.Equal(t, 1, deltas)
		})
	}
}
