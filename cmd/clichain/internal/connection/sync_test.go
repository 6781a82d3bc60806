package connection

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// TestSyncWarnings reads the sync setting of a server from its monitoring endpoint and from the system account.
func TestSyncWarnings(t *testing.T) {
	for _, test := range []struct {
		name   string
		always bool
		want   string
	}{
		{"sync on each write", true, ""},
		{"sync at intervals", false, " acknowledges jobs before it writes them to disk; set sync_interval: always"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := consoletest.NATSServer(t, func(o *server.Options) {
				o.SyncAlways, o.HTTPHost, o.HTTPPort = test.always, "127.0.0.1", -1
				system, mine := server.NewAccount("SYS"), server.NewAccount("MINE")
				o.Accounts, o.SystemAccount = []*server.Account{system, mine}, "SYS"
				o.Users = []*server.User{
					{Username: "admin", Password: "x", Account: system}, {Username: "u", Password: "x", Account: mine},
				}
			})
			monitor, err := ParseMonitor("http://" + s.MonitorAddr().String())
			require.NoError(t, err)
			warnings := func(user string, monitors ...*url.URL) string {
				f, log := flagsOf(nil)
				f.Servers = strings.Replace(s.ClientURL(), "//", "//"+user+":x@", 1)
				nc, err := f.Connect(t.Context())
				require.NoError(t, err)
				defer nc.Close()
				list := f.SyncWarnings(t.Context(), nc, monitors)
				require.Empty(t, log.String())
				return strings.Join(list, "\n")
			}
			require.Contains(t, warnings("u"), "before they acknowledge them; use --nats-monitor URL")
			seen, told := warnings("u", monitor), warnings("admin")
			if test.want == "" {
				require.Empty(t, seen+told)
				return
			}
			require.Contains(t, seen, "the server at "+monitor.Host+test.want)
			require.Contains(t, told, "server alpha"+test.want)
		})
	}
}

// TestMonitorErrors checks the warnings about invalid monitoring URLs. They must not contain the password.
func TestMonitorErrors(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer page.Close()
	for text, want := range map[string]string{
		other.URL: "the response is 404 Not Found", page.URL: "not from a NATS server", "http://127.0.0.1:1": "connection refused",
	} {
		u, err := ParseMonitor(strings.Replace(text, "//", "//u:hidden@", 1))
		require.NoError(t, err)
		f, _ := flagsOf(nil)
		list := strings.Join(f.askMonitors(t.Context(), []*url.URL{u}), "\n")
		require.Contains(t, list, "cannot check whether the server")
		require.Contains(t, list, want)
		require.NotContains(t, list, "hidden")
	}
	for _, text := range []string{"", "127.0.0.1:8222", "nats://h:1", "http://"} {
		_, err := ParseMonitor(text)
		require.ErrorContains(t, err, "write the URL", text)
	}
}
