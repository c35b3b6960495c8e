package supervise

// Verb is the first argument of the supervisor's process. The program calls
// Supervise with the arguments after it.
const Verb = "supervise"
