package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// usageService is the part of ChatGPT's service that knows the plan of an account.
type usageService struct {
	reset time.Time
	mu    sync.Mutex
	paths []string
}

func (s *usageService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	if !strings.HasSuffix(r.URL.Path, "/usage") {
		_, _ = w.Write([]byte("{}"))
		return
	}
	window := func(percent int, length, left time.Duration) map[string]any {
		return map[string]any{
			"used_percent": percent, "limit_window_seconds": int(length.Seconds()),
			"reset_after_seconds": int(left.Seconds()), "reset_at": s.reset.Unix(),
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"plan_type": "pro", "rate_limit": map[string]any{
		"allowed": true, "limit_reached": false,
		"primary_window": window(42, 5*time.Hour, time.Hour), "secondary_window": window(7, 7*24*time.Hour, time.Hour),
	}})
}

// logInWithPlan writes the login of a ChatGPT plan, whose service is at a URL. The CLI does not check the signature.
func logInWithPlan(t *testing.T, h home.Home, url string) {
	t.Helper()
	part := func(v any) string {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	token := part(map[string]any{"alg": "none"}) + "." + part(map[string]any{
		"email": "a@example.com", "exp": time.Now().Add(24 * time.Hour).Unix(),
		"https://api.openai.com/auth": map[string]any{"chatgpt_plan_type": "pro", "chatgpt_account_id": "acc"},
	}) + ".c2ln"
	login, err := json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "last_refresh": time.Now().UTC().Format(time.RFC3339), "tokens": map[string]any{
			"id_token": token, "access_token": token, "refresh_token": home.Key, "account_id": "acc",
		},
	})
	require.NoError(t, err)
	h.Write(t, ".codex/auth.json", string(login))
	h.Write(t, ".codex/config.toml", fmt.Sprintf("chatgpt_base_url = %q\n", url+"/backend-api/"))
}

// codex with a plan reports its usage windows without a request to a model. With a key, it has none.
func TestAskQuota(t *testing.T) {
	c := start(t, home.Codex, home.LoggedIn, clichain.Config{}, loopback.Always(loopback.Text("never")))
	_, err := c.AskQuota(t.Context())
	require.ErrorContains(t, err, "chatgpt authentication required")

	service := &usageService{reset: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	logInWithPlan(t, c.home, server.URL)
	windows, err := c.AskQuota(t.Context())
	require.NoError(t, err)
	for i := range windows {
		require.WithinDuration(t, time.Now(), windows[i].ObservedAt, time.Minute)
		windows[i].ObservedAt = time.Time{}
	}
	require.Equal(t, []call.QuotaWindow{
		{Name: "primary", Used: new(0.42), Length: 5 * time.Hour, ResetsAt: service.reset},
		{Name: "secondary", Used: new(0.07), Length: 7 * 24 * time.Hour, ResetsAt: service.reset},
	}, windows)
	require.Empty(t, c.server.Calls())
	t.Log(service.paths)
}
