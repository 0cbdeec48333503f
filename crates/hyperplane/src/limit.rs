//! How long a command waits, as its flags have it.

use std::{str::FromStr, time::Duration};

use hyperplane_api::common::GoDuration;

/// A length of time, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<Duration>);

impl FromStr for Limit {
    type Err = String;

    /// Zero means that there is none.
    fn from_str(text: &str) -> Result<Self, String> {
        let read: Result<GoDuration, _> = text.parse();
        let duration = read.and_then(|read| read.to_duration()).map_err(|error| error.rule)?;
        Ok(Self(Some(duration).filter(|duration| !duration.is_zero())))
    }
}

impl Limit {
    /// Waits for something. Nothing comes where it does not come in time.
    pub(crate) async fn within<T>(self, coming: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            Some(limit) => tokio::time::timeout(limit, coming).await.ok(),
            None => Some(coming.await),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_kubectl_has_them() {
        assert_eq!("90s".parse(), Ok(Limit(Some(Duration::from_secs(90)))));
        assert_eq!("0".parse(), Ok(Limit(None)));
        assert_eq!("0s".parse(), Ok(Limit(None)));
        assert!("-1s".parse::<Limit>().is_err());
        assert!("soon".parse::<Limit>().unwrap_err().contains("20m"));
    }
}
