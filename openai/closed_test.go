package openai_test

import (
	"context"
	"errors"
	"log/slog"
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
	failure error // of a write
	writes  int
}

func (u *unwritable) Write(data []byte) (int, error) { u.writes++; return len(data), u.failure }
func (u *unwritable) FlushError() error              { return errors.New("timeout") }

// serveTo sends the answer of a backend to an unwritable connection.
func serveTo(ctx context.Context, u *unwritable, backend clichain.Backend, body string, cfg openai.Config) {
	cfg.Token = token
	u.ResponseRecorder = httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+chat, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	openai.NewHandler(backend, &cfg).ServeHTTP(u, r)
}

// TestUnreadStreamEnds checks that a failed write ends the call, although the context of the request does not end.
func TestUnreadStreamEnds(t *testing.T) {
	for name, failure := range map[string]error{"write": errors.New("timeout"), "flush": nil} {
		t.Run(name, func(t *testing.T) {
			deltas := 0
			backend := says(strings.Split(strings.Repeat("x ", 100), " ")...)
			backend.yielded = func(e clichain.Event) {
				if e.Kind == clichain.EventDelta {
					deltas++
				}
			}
			u := &unwritable{failure: failure}
			serveTo(t.Context(), u, backend, streamHi, openai.Config{})
			require.Equal(t, 1, deltas)
			require.Equal(t, 1, u.writes, "each further write would wait for its time limit")
		})
	}
}

// TestUnreadAnswerIsLogged checks the log of a client that leaves before the end of an answer.
func TestUnreadAnswerIsLogged(t *testing.T) {
	for _, body := range []string{hi, streamHi} {
		ctx, cancel := context.WithCancel(t.Context())
		backend := says()
		backend.yielded = func(clichain.Event) { cancel() }
		var log strings.Builder
		u := &unwritable{failure: errors.New("reset")}
		serveTo(ctx, u, backend, body, openai.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.Contains(t, log.String(), "the client left", body)
	}
}
