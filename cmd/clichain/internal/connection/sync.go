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

// A server without "sync_interval: always" acknowledges a job before it is on disk, and loses the job if the machine
// crashes then. The setting can be read in two ways: by a request on the connection, which few accounts may send, and
// from the server's monitoring over HTTP.

const (
	// systemSubject is the subject of a request to every server of a cluster for its JetStream state.
	systemSubject = "$SYS.REQ.SERVER.PING.JSZ"
	// systemLimit limits the wait for the first response, systemPause the wait for each further response.
	systemLimit = time.Second
	systemPause = 200 * time.Millisecond
	// monitorLimit limits the time of a monitoring request, maxMonitorAnswer the bytes of the response.
	monitorLimit     = 3 * time.Second
	maxMonitorAnswer = 1 << 20
)

// jsState is the JetStream state of a server.
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
	return []string{fmt.Sprintf(
		"%s acknowledges jobs before it writes them to disk; set sync_interval: always in its jetstream block", server)}
}

// SyncWarnings returns a warning for each server that acknowledges before it writes to disk, or one if this is unknown.
func (f *NATSFlags) SyncWarnings(ctx context.Context, nc *nats.Conn, monitors []*url.URL) (warnings []string) {
	if len(monitors) > 0 {
		return f.askMonitors(ctx, monitors)
	}
	warnings, answered := askSystem(ctx, nc)
	if !answered {
		return []string{"cannot check whether the servers write jobs to disk before they acknowledge them; " +
			"use --nats-monitor URL"}
	}
	return warnings
}

// askSystem sends a request on the connection. Most accounts may not send it, because it needs the system account.
func askSystem(ctx context.Context, nc *nats.Conn) (warnings []string, answered bool) {
	inbox := nc.NewRespInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, false
	}
	defer func() { _ = answers.Unsubscribe() }() // it fails only on a closed connection
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

// ParseMonitor parses the monitoring URL of a server, such as http://host:8222.
func ParseMonitor(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("write the URL of a server's monitoring, such as http://127.0.0.1:8222")
	}
	return u, nil
}

// askMonitors queries the servers one after the other.
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
			warnings = append(warnings, fmt.Sprintf(
				"cannot check whether %s writes jobs to disk before it acknowledges them: %s",
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
	pool.AppendCertsFromPEM(pem) // an empty pool makes the request fail
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return transport, nil
}

// askMonitor returns errors without the URL, which may have a password.
func askMonitor(ctx context.Context, client *http.Client, monitor *url.URL) (state jsState, err error) {
	target := monitor.JoinPath("jsz")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return state, errors.New("the URL is invalid")
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
		return state, errors.New("the response is " + response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxMonitorAnswer))
	if err != nil {
		return state, err
	}
	if !strings.Contains(string(data), `"server_id"`) || json.Unmarshal(data, &state) != nil {
		return state, errors.New("the response is not from a NATS server")
	}
	return state, nil
}
