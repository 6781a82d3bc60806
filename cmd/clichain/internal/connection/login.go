package connection

import (
	"crypto/tls"
	"os"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/nats-io/nats.go"
)

// addFiles adds the options for the files that the flags name. It reads each file once, so that an error can name the
// flag. The NATS client reads the files again at each connect.
func (f *NATSFlags) addFiles(o *nats.Options) error {
	for _, read := range []func() (nats.Option, error){f.login, f.authority, f.certificate} {
		option, err := read()
		if err != nil {
			return err
		}
		if option == nil {
			continue
		}
		if err := option(o); err != nil {
			return console.Usagef("NATS: %v", err)
		}
	}
	return nil
}

// login returns the option for a credentials file or an NKey, or nil without both.
func (f *NATSFlags) login() (nats.Option, error) {
	creds, nkey := f.setting("nats-creds", f.creds), f.setting("nats-nkey", f.nkey)
	switch {
	case creds.value != "" && nkey.value != "":
		return nil, console.Usagef("%s and %s: use only one of them", creds.source,
			nkey.source)
	case creds.value != "":
		option := nats.UserCredentials(creds.value)
		return option, creds.check(func() error { return checkCredentials(option) })
	case nkey.value != "":
		var option nats.Option
		return option, nkey.check(func() (err error) {
			option, err = nats.NkeyOptionFromSeed(nkey.value)
			return err
		})
	}
	return nil, nil
}

// checkCredentials reads the file in the same way as a connect.
func checkCredentials(option nats.Option) error {
	var o nats.Options
	if err := option(&o); err != nil {
		return err
	}
	if _, err := o.UserJWT(); err != nil {
		return err
	}
	_, err := o.SignatureCB([]byte("test"))
	return err
}

func (f *NATSFlags) authority() (nats.Option, error) {
	ca := f.setting("nats-ca", f.authorityFile)
	if ca.value == "" {
		return nil, nil
	}
	option := nats.RootCAs(ca.value)
	return option, ca.check(func() error { return option(&nats.Options{}) })
}

func (f *NATSFlags) certificate() (nats.Option, error) {
	cert, key := f.setting("nats-cert", f.cert), f.setting("nats-key", f.key)
	switch {
	case cert.value == "" && key.value == "":
		return nil, nil
	case cert.value == "" || key.value == "":
		return nil, console.Usagef("--nats-cert and --nats-key: use both or neither")
	}
	if err := key.check(func() error { return nil }); err != nil {
		return nil, err
	}
	return nats.ClientCert(cert.value, key.value), cert.check(func() error {
		_, err := tls.LoadX509KeyPair(cert.value, key.value)
		return err
	})
}

// check returns an error for a file that cannot be read or parsed. It drops the error of parse, which could quote a
// secret.
func (s setting) check(parse func() error) error {
	if _, err := os.ReadFile(s.value); err != nil {
		return console.Usagef("%s: %v", s.source, err)
	}
	if parse() != nil {
		return console.Usagef("%s: %s: the content is invalid, or certificate and key do not match", s.source, s.value)
	}
	return nil
}
