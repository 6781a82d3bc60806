package connection

import (
	"crypto/tls"
	"os"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/nats-io/nats.go"
)

// addFiles adds what the files say that the flags name. All of them are read once here, so that a mistake is told by
// the flag's name, and again at each connect.
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

// login is by a credentials file or an NKey; nil: neither.
func (f *NATSFlags) login() (nats.Option, error) {
	creds, nkey := f.setting("nats-creds", f.creds), f.setting("nats-nkey", f.nkey)
	switch {
	case creds.value != "" && nkey.value != "":
		return nil, console.Usagef("%s and %s: give one of them: a login is by credentials or by an NKey", creds.source,
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

// checkCredentials reads the file as each connect does.
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
		return nil, console.Usagef("--nats-cert and --nats-key: one is useless without the other: give both")
	}
	if err := key.check(func() error { return nil }); err != nil {
		return nil, err
	}
	return nats.ClientCert(cert.value, key.value), cert.check(func() error {
		_, err := tls.LoadX509KeyPair(cert.value, key.value)
		return err
	})
}

// check reports a file that cannot be read, or in which parse finds a mistake. What parse says of the contents is
// dropped: it could quote a secret.
func (s setting) check(parse func() error) error {
	if _, err := os.ReadFile(s.value); err != nil {
		return console.Usagef("%s: %v", s.source, err)
	}
	if parse() != nil {
		return console.Usagef("%s: %s: the contents are not what the option takes, or do not fit together", s.source, s.value)
	}
	return nil
}
