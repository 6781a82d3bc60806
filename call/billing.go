package call

// Billing is who pays for an answer.
type Billing string

const (
	// BillingUnknown is the zero value.
	BillingUnknown Billing = ""
	// BillingSubscription is a plan that is paid for anyway.
	BillingSubscription Billing = "subscription"
	// BillingAPIKey is an account that pays for each request: a key, or a cloud.
	BillingAPIKey Billing = "api_key"
)
