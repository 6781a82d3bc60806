//go:build linux

package conformance_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// renewing returns a server that renews logins, and passes all other requests on to the model server. tokens gets the
// token of each of these requests.
func renewing(t *testing.T, server *loopback.Server) (at string, tokens chan string) {
	t.Helper()
	model, err := url.Parse(server.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(model)
	tokens = make(chan string, 100)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/oauth/token" {
			tokens <- r.Header.Get("Authorization")
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"access_token": "renewed", "refresh_token": "next", "expires_in": 3600, "token_type": "Bearer"}`) // the CLI reports a failure
	}))
	t.Cleanup(front.Close)
	return front.URL, tokens
}

// The login of a profile of claude has expired. The confined CLI renews it: it makes a lock beside the directory of the
// logins, and renames a new file to the old one. The next run uses the renewed login.
func TestConfinedClaudeRenewsItsLogin(t *testing.T) {
	t.Parallel()
	cfg := clichain.Config{Timeout: minute, Confine: call.ConfineRequired}
	c := start(t, home.Claude, home.LoggedOut, cfg, loopback.Always(loopback.Text(hello)))
	at, tokens := renewing(t, c.server)
	cfg = c.Config()
	cfg.Env = append(cfg.Env, "ANTHROPIC_BASE_URL="+at)
	c.Provider = clichain.NewProvider(c.Spec(), &cfg)
	c.home.Write(t, ".config/anthropic/configs/default.json", fmt.Sprintf(
		`{"version": "1.0", "base_url": %q, "authentication": {"type": "user_oauth", "client_id": "x"}}`, at))
	path := c.home.Write(t, ".config/anthropic/credentials/default.json",
		`{"version": "1.0", "type": "oauth_token", "access_token": "expired", "refresh_token": "first", "expires_at": 1}`)
	old := inode(t, path)
	for range 2 {
		resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Regexp(t, "^landlock", resp.Confined)
		require.Empty(t, resp.Warnings)
		require.Equal(t, "Bearer renewed", <-tokens)
	}
	require.NotEqual(t, old, inode(t, path), "the CLI did not replace the file")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "renewed", gjson.GetBytes(text, "access_token").String())
	left, err := os.ReadDir(filepath.Join(c.home.Dir, ".config/anthropic"))
	require.NoError(t, err)
	require.Len(t, left, 2, "the lock is left")
}
