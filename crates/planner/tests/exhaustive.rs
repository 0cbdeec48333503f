//! The check and the certificate against a second reading of the policies, which shares no code with them. What is
//! walked completely and what is drawn from a seed is said where it is walked.
