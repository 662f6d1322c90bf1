//! The pictures that can be drawn, by name.

/// The pictures by the names that the command line gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureName {
    Tuning,
    Points,
    Regions,
    Losses,
    Errors,
    Mistakes,
    Interval,
    Descent,
    Confusion,
    Roc,
    Calibration,
    Predictions,
    Weights,
    Image,
}

impl PictureName {
    pub const ALL: [PictureName; 14] = [
        PictureName::Tuning,
        PictureName::Points,
        PictureName::Regions,
        PictureName::Losses,
        PictureName::Errors,
        PictureName::Mistakes,
        PictureName::Interval,
        PictureName::Descent,
        PictureName::Confusion,
        PictureName::Roc,
        PictureName::Calibration,
        PictureName::Predictions,
        PictureName::Weights,
        PictureName::Image,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PictureName::Tuning => "tuning",
            PictureName::Points => "points",
            PictureName::Regions => "regions",
            PictureName::Losses => "losses",
            PictureName::Errors => "errors",
            PictureName::Mistakes => "mistakes",
            PictureName::Interval => "interval",
            PictureName::Descent => "descent",
            PictureName::Confusion => "confusion",
            PictureName::Roc => "roc",
            PictureName::Calibration => "calibration",
            PictureName::Predictions => "predictions",
            PictureName::Weights => "weights",
            PictureName::Image => "image",
        }
    }
}
