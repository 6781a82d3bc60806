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

// streamTo streams the answer of a backend to an unwritable connection.
func streamTo(ctx context.Context, u *unwritable, backend clichain.Backend, cfg openai.Config) {
	cfg.Token = token
	u.ResponseRecorder = httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+chat, strings.NewReader(streamHi))
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
			streamTo(t.Context(), u, backend, openai.Config{})
			require.Equal(t, 1, deltas)
			require.Equal(t, 1, u.writes, "each further write would wait for its time limit")
		})
	}
}

// TestUnreadStreamIsIncomplete checks the log of a client that leaves before the end of an answer.
func TestUnreadStreamIsIncomplete(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	backend := says()
	backend.yielded = func(clichain.Event) { cancel() }
	var log strings.Builder
	streamTo(ctx, &unwritable{}, backend, openai.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Contains(t, log.String(), "the client left")
}
