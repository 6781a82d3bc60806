package connection

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/nats-io/nats.go"
)

// A server that is not told "sync_interval: always" acknowledges a job before the disk has it, and loses it when the
// machine stops just then. Two ways lead to that setting: a request on the connection, which few accounts may make, and
// the server's monitoring over HTTP.

const (
	// systemSubject asks every server of a cluster about its JetStream.
	systemSubject = "$SYS.REQ.SERVER.PING.JSZ"
	// systemLimit bounds the wait for the first answer to it, and systemPause that for each further one.
	systemLimit = time.Second
	systemPause = 200 * time.Millisecond
	// monitorLimit bounds a request to a server's monitoring, and maxMonitorAnswer its answer.
	monitorLimit     = 3 * time.Second
	maxMonitorAnswer = 1 << 20
)

// jsState is what a server tells of its JetStream.
type jsState struct {
	Disabled bool `json:"disabled"`
	Config   struct {
		SyncAlways bool `json:"sync_always"`
	} `json:"config"`
}

func (s jsState) warning(server string) []string {
	if s.Disabled || s.Config.SyncAlways {
		return nil
	}
	return []string{fmt.Sprintf("%s acknowledges before the disk has it: set sync_interval: always in its jetstream block",
		server)}
}

// SyncWarnings name the servers that acknowledge too soon, or say that it cannot be seen.
func (f *NATSFlags) SyncWarnings(ctx context.Context, nc *nats.Conn, monitors []*url.URL) (warnings []string) {
	if len(monitors) > 0 {
		return f.askMonitors(ctx, monitors)
	}
	warnings, answered := askSystem(ctx, nc)
	if !answered {
		return []string{"whether the servers write to the disk before they acknowledge cannot be seen from here: " +
			"give --nats-monitor URL"}
	}
	return warnings
}

// askSystem asks on the connection. Not to be allowed to is usual: JetStream's users are in other accounts.
func askSystem(ctx context.Context, nc *nats.Conn) (warnings []string, answered bool) {
	inbox := nc.NewRespInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, false
	}
	defer func() { _ = answers.Unsubscribe() }() // it fails on a closed connection only
	if err := nc.PublishRequest(systemSubject, inbox, nil); err != nil {
		return nil, false
	}
	for limit := systemLimit; ; limit = systemPause {
		waiting, cancel := context.WithTimeout(ctx, limit)
		msg, err := answers.NextMsgWithContext(waiting)
		cancel()
		var answer struct {
			Server struct{ Name string } `json:"server"`
			Data   *jsState              `json:"data"`
		}
		if err != nil || json.Unmarshal(msg.Data, &answer) != nil || answer.Data == nil {
			slices.Sort(warnings)
			return warnings, answered
		}
		answered = true
		warnings = append(warnings, answer.Data.warning("server "+terminal.OneLine(answer.Server.Name))...)
	}
}

// ParseMonitor reads the URL of a server's monitoring, such as http://host:8222.
func ParseMonitor(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("write the URL of a server's monitoring, such as http://127.0.0.1:8222")
	}
	return u, nil
}

// askMonitors asks one server after the other, within the limit of each.
func (f *NATSFlags) askMonitors(ctx context.Context, monitors []*url.URL) (warnings []string) {
	transport, err := f.monitorTransport()
	if err != nil {
		return []string{err.Error()}
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Timeout: monitorLimit, Transport: transport}
	for _, monitor := range monitors {
		name := "the server at " + monitor.Host
		state, err := askMonitor(ctx, client, monitor)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s does not tell whether it writes to the disk before it acknowledges: %s",
				name, terminal.OneLine(err.Error())))
			continue
		}
		warnings = append(warnings, state.warning(name)...)
	}
	return warnings
}

func (f *NATSFlags) monitorTransport() (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	ca := f.setting("nats-ca", f.authorityFile)
	if ca.value == "" {
		return transport, nil
	}
	pem, err := os.ReadFile(ca.value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ca.source, err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem) // an empty pool trusts nobody, which the request's error tells
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return transport, nil
}

// askMonitor gives errors without the URL, which may have a password in it.
func askMonitor(ctx context.Context, client *http.Client, monitor *url.URL) (state jsState, err error) {
	target := monitor.JoinPath("jsz")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return state, errors.New("its URL cannot be asked")
	}
	response, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return state, failed.Err
	}
	if err != nil {
		return state, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return state, errors.New("it answered " + response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxMonitorAnswer))
	if err != nil {
		return state, err
	}
	if !strings.Contains(string(data), `"server_id"`) || json.Unmarshal(data, &state) != nil {
		return state, errors.New("what answers there is no NATS server")
	}
	return state, nil
}
