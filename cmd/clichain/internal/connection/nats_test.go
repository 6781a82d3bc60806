package connection

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// flagsOf returns flags that read environment variables from a map and log to the buffer.
func flagsOf(env map[string]string) (*NATSFlags, *bytes.Buffer) {
	var log bytes.Buffer
	f := &NATSFlags{env: func(name string) string { return env[name] }}
	f.Log = slog.New(slog.NewTextHandler(&log, nil))
	return f, &log
}

// certificates writes a CA certificate and a certificate for 127.0.0.1 to files.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(signer)
	require.NoError(t, err)
	ca = write("ca.pem", "CERTIFICATE", der)
	return ca, ca, write("key.pem", "PRIVATE KEY", private)
}

func TestNatsFlagsErrors(t *testing.T) {
	_, cert, key := certificates(t)
	nonsense := filepath.Join(t.TempDir(), "nonsense")
	require.NoError(t, os.WriteFile(nonsense, []byte("hidden text"), 0o600))
	for _, test := range []struct {
		name string
		f    NATSFlags
		env  map[string]string
		want string
	}{
		{name: "no server", want: "--nats: which server? Give its URL"},
		{name: "missing URL", f: NATSFlags{Servers: "nats://u:hidden text@h"}, want: "--nats: server 1 of the list is no URL"},
		{name: "invalid URL in the environment", env: map[string]string{"NATS_URL": "a,nats://:4222"}, want: "NATS_URL: server 2 of the list is no URL"},
		{name: "unknown scheme", f: NATSFlags{Servers: "http://u:hidden@h:1"}, want: "--nats: http://h:1: the scheme is not one of"},
		{name: "missing credentials file", f: NATSFlags{Servers: "h", creds: "/nowhere"}, want: "--nats-creds: open /nowhere"},
		{name: "invalid credentials file", f: NATSFlags{Servers: "h", creds: nonsense}, want: "--nats-creds: " + nonsense + ": the content is invalid"},
		{name: "NKey", env: map[string]string{"NATS_URL": "h", "NATS_NKEY": nonsense}, want: "NATS_NKEY: " + nonsense},
		{name: "credentials file and NKey", f: NATSFlags{Servers: "h", creds: "a", nkey: "b"}, want: "--nats-creds and --nats-nkey: use only one"},
		{name: "missing CA file", f: NATSFlags{Servers: "h", authorityFile: "/nowhere"}, want: "--nats-ca: open /nowhere"},
		{name: "invalid CA file", f: NATSFlags{Servers: "h", authorityFile: nonsense}, want: "--nats-ca: " + nonsense},
		{name: "certificate without key", f: NATSFlags{Servers: "h", cert: cert}, want: "--nats-cert and --nats-key"},
		{name: "missing key file", f: NATSFlags{Servers: "h", cert: cert, key: "/nowhere"}, want: "--nats-key: open /nowhere"},
		{name: "invalid certificate file", f: NATSFlags{Servers: "h", cert: nonsense, key: key}, want: "--nats-cert: " + nonsense},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.f.env = func(name string) string { return test.env[name] }
			_, err := test.f.Connect(t.Context())
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "hidden")
			status, ok := err.(*console.ExitError)
			require.True(t, ok)
			require.Equal(t, console.ExitUsage, status.Status)
		})
	}
}

func TestNatsLogins(t *testing.T) {
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	seed, err := pair.Seed()
	require.NoError(t, err)
	seedFile := filepath.Join(t.TempDir(), "seed")
	require.NoError(t, os.WriteFile(seedFile, seed, 0o600))
	s := consoletest.NATSServer(t, func(o *server.Options) {
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
		o.Users = []*server.User{{Username: "u", Password: "hidden"}}
	})
	address := strings.TrimPrefix(s.ClientURL(), "nats://")
	for _, test := range []struct {
		name   string
		f      NATSFlags
		env    map[string]string
		status int // 0 if the connection succeeds
		want   string
	}{
		{name: "user in the URL", f: NATSFlags{Servers: "nats://u:hidden@" + address}},
		{name: "user in the URL of the environment", env: map[string]string{"NATS_URL": "nats://u:hidden@" + address}},
		{name: "user in environment variables", f: NATSFlags{Servers: address}, env: map[string]string{"NATS_USER": "u", "NATS_PASSWORD": "hidden"}},
		{name: "NKey", f: NATSFlags{Servers: address, nkey: seedFile}},
		{name: "second server in the list", f: NATSFlags{Servers: "127.0.0.1:1, nats://u:hidden@" + address}},
		{
			name: "wrong password", f: NATSFlags{Servers: "nats://u:hidden-too@" + address}, status: console.ExitUsage,
			want: "NATS at nats://" + address + " refuses the login: check --nats-creds",
		},
		{
			name: "no server at the address", f: NATSFlags{Servers: "nats://u:hidden@127.0.0.1:1"}, status: console.ExitFailed,
			want: "cannot connect to NATS at nats://127.0.0.1:1: ",
		},
		{
			name: "server without TLS", f: NATSFlags{Servers: "tls://u:hidden@" + address}, status: console.ExitUsage,
			want: "offers no TLS",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, log := flagsOf(test.env)
			f.Servers, f.nkey = test.f.Servers, test.f.nkey
			require.True(t, f.Given())
			nc, err := f.Connect(t.Context())
			require.NotContains(t, log.String(), "hidden")
			if test.status == 0 {
				require.NoError(t, err)
				nc.Close()
				return
			}
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "hidden")
			require.Equal(t, test.status, err.(*console.ExitError).Status)
		})
	}
}

func TestNatsTLS(t *testing.T) {
	ca, cert, key := certificates(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	data, err := os.ReadFile(ca)
	require.NoError(t, err)
	require.True(t, pool.AppendCertsFromPEM(data))
	s := consoletest.NATSServer(t, func(o *server.Options) {
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 20
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	})
	servers := s.ClientURL()
	for _, test := range []struct {
		name, ca, cert, key string
		want                string
	}{
		{"CA, certificate and key", ca, cert, key, ""},
		{"unknown CA", "", cert, key, "give the servers' authority as --nats-ca"},
		{"missing client certificate", ca, "", "", "cannot connect to NATS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := flagsOf(map[string]string{"NATS_URL": servers, "NATS_CERT": test.cert, "NATS_KEY": test.key})
			f.authorityFile = test.ca
			nc, err := f.Connect(t.Context())
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			nc.Close()
		})
	}
}

// TestNatsConnectCanceled checks that canceling ctx also cancels a connection attempt to a silent server.
func TestNatsConnectCanceled(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	f, _ := flagsOf(nil)
	f.Servers = silent.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := silent.Accept()
		cancel()
		if err == nil {
			defer conn.Close()
		}
	}()
	_, err = f.Connect(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestNatsPlainText checks the warning about a connection without encryption. A loopback connection needs none.
func TestNatsPlainText(t *testing.T) {
	s := consoletest.NATSServer(t, func(o *server.Options) { o.Host = "0.0.0.0" })
	_, port, err := net.SplitHostPort(s.Addr().String())
	require.NoError(t, err)
	for host, want := range map[string]bool{"127.0.0.1": false, "localhost": false, outerAddress(t): true} {
		f, log := flagsOf(nil)
		f.Servers = net.JoinHostPort(host, port)
		nc, err := f.Connect(t.Context())
		require.NoError(t, err)
		nc.Close()
		require.Equal(t, want, strings.Contains(log.String(), "not encrypted"), "%s: %s", host, log)
	}
}

// outerAddress returns an address of this machine that is not a loopback address.
func outerAddress(t *testing.T) string {
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no other address than its own")
	return ""
}

// TestNatsReconnects checks that a lost connection is reestablished and logged.
func TestNatsReconnects(t *testing.T) {
	s := consoletest.NATSServer(t, nil)
	f, _ := flagsOf(nil)
	lines := make(consoletest.LineWriter, 100)
	f.Log = slog.New(slog.NewTextHandler(lines, nil))
	f.Servers = s.ClientURL()
	nc, err := f.Connect(t.Context())
	require.NoError(t, err)
	defer nc.Close()
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	lines.Await(t, "the connection broke")
	consoletest.NATSServer(t, func(o *server.Options) { o.Port = port })
	lines.Await(t, "connected again")
	require.Equal(t, nats.CONNECTED, nc.Status())
}
