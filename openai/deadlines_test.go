package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/openai"
)

// connection keeps the deadlines that are set on it.
type connection struct {
	*httptest.ResponseRecorder
	reads, writes []time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error  { c.reads = append(c.reads, t); return nil }
func (c *connection) SetWriteDeadline(t time.Time) error { c.writes = append(c.writes, t); return nil }

// TestDeadlines: sending a request and reading its answer are bounded, the time in between is not, and no bound is left
// over from the request before.
func TestDeadlines(t *testing.T) {
	h := openai.NewHandler(says("x"), &openai.Config{Token: token})
	for _, test := range []struct {
		name, body string
		status     int
	}{
		{"an answer", hi, 200}, {"a stream", streamHi, 200}, {"a refusal", "{", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(test.body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			c := &connection{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(c, r)
			require.Equal(t, test.status, c.Code)
			require.Len(t, c.reads, 2)
			require.WithinRange(t, c.reads[0], time.Now(), time.Now().Add(2*time.Minute))
			require.Zero(t, c.reads[1], "reading notices that the client leaves")
			require.GreaterOrEqual(t, len(c.writes), 2)
			require.Zero(t, c.writes[0])
			for _, at := range c.writes[1:] {
				require.WithinRange(t, at, time.Now(), time.Now().Add(2*time.Minute))
			}
		})
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(hi)) // without the token
	c := &connection{ResponseRecorder: httptest.NewRecorder()}
	h.ServeHTTP(c, r)
	require.Equal(t, 401, c.Code)
	require.Len(t, c.reads, 1, "what is not read stays bounded")
}
