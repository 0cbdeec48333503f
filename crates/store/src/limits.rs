//! Every bound of a store, in one place, each with its reason.

/// How much a store takes, keeps and writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Transactions that may wait for the writer; further ones are refused as overload. Some milliseconds of work: who
    /// waits longer than that is better told to come back.
    pub queue_transactions: usize,
    /// Bytes that may wait for the writer: the memory that a burst of large objects can take.
    pub queue_bytes: usize,
    /// Operations in one transaction: it is judged and written as a whole, while all others wait.
    pub transaction_operations: usize,
    /// Bytes in one transaction: twice the largest request body that Kubernetes accepts, and some.
    pub transaction_bytes: usize,
    /// Operations in one batch. Larger ones save no further time: the synchronisation is shared by a thousand already.
    pub batch_operations: usize,
    /// Bytes in one batch: it bounds how long a small write waits for the large ones before it.
    pub batch_bytes: usize,
    /// Events that a collection keeps for watchers. kube-apiserver's caches hold about as many under load.
    pub ring_events: usize,
    /// Bytes of payload that those events may hold in memory.
    pub ring_bytes: usize,
    /// Snapshots that are kept for lists that are read page by page: that many readers can be on their way.
    pub pinned_snapshots: usize,
    /// Revisions after which such a snapshot is given up, because what was overwritten since stays in memory for it.
    pub pinned_revisions: u64,
    /// Bytes after which the log goes on in a new segment. Recovery holds one segment in memory.
    pub segment_bytes: u64,
    /// Bytes of log below which it is not worth sweeping it.
    pub sweep_bytes: u64,
    /// Bytes that a sweep adds to even the smallest batch: as much as hardly lengthens a synchronisation.
    pub sweep_step_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queue_transactions: 8 << 10,
            queue_bytes: 64 << 20,
            transaction_operations: 1 << 10,
            transaction_bytes: 8 << 20,
            batch_operations: 1 << 10,
            batch_bytes: 1 << 20,
            ring_events: 10_000,
            ring_bytes: 32 << 20,
            pinned_snapshots: 32,
            pinned_revisions: 50_000,
            segment_bytes: 16 << 20,
            sweep_bytes: 16 << 20,
            sweep_step_bytes: 16 << 10,
        }
    }
}
