//! The weights themselves: the heaviest as bars, those of pixels as images.

use super::training::Evidence;
use super::{Section, line};
use crate::picture::PictureName;
use crate::render::number;
use crate::summary::model::{Heavy, heaviest, output_label};
use novikoff::model::{Model, Task};
use novikoff::plot::{Bars, Group, Image, Images, tidy};
use novikoff::train::Fit;
use novikoff::{Error, Result};

/// Classes that have bars at most.
const CLASSES: usize = 20;

/// The class that positive weights of an output are evidence for.
fn evidence_for(model: &Model, output: usize) -> String {
    match (output_label(model, output), model.task()) {
        (Some(label), _) => format!("for {}", tidy(label, 40)),
        (None, Task::Regression) => "the number predicted".to_owned(),
        (None, Task::Classes) => format!("output {}", output + 1),
    }
}

/// The heaviest weights by name.
pub fn bars(fit: &Fit) -> Option<Section> {
    let (model, weights) = (&fit.model, fit.model.scorer.weights()?);
    let outputs = weights.outputs();
    let shown = outputs.min(CLASSES);
    let each = if outputs == 1 { 16 } else { (48 / shown).clamp(3, 8) }.min(weights.features());
    let groups: Vec<Group> = (0..shown)
        .map(|output| {
            let bar = |heavy: Heavy| (model.schema.name(heavy.feature), heavy.size().copysign(heavy.weight));
            let bars = heaviest(weights, output, each).into_iter().map(bar).collect();
            Group { title: evidence_for(model, output), bars }
        })
        .collect();
    let measure = match weights.spreads.is_empty() {
        true => {
            "A weight counts per unit of its column, so that weights of columns in different units do not \
             compare."
        }
        false => {
            "The length of a bar is the weight times the standard deviation of its column: how much it moves \
             the score from row to row."
        }
    };
    let described: Vec<String> = groups
        .iter()
        .filter_map(|group| Some(format!("{}: {}", group.title, tidy(&group.bars.first()?.0, 40))))
        .collect();
    let description = format!("The heaviest weight {}.", described.join("; "));
    let title = "Heaviest weights";
    let picture = Bars { title, description: &description, groups: &groups }.draw();
    let less = if shown < outputs {
        format!(" Of {outputs} classes the first {shown} are drawn.")
    } else {
        String::new()
    };
    let text = format!(
        "The {each} heaviest weights{}: to the right they speak for it, to the left against \
         it. {measure}{less}",
        if outputs > 1 { " for each class" } else { "" }
    );
    let mut table = vec![line(["feature", "weight", "effect", "speaks"])];
    for (output, group) in groups.iter().enumerate() {
        for heavy in heaviest(weights, output, each) {
            let effect = heavy.effect.map_or_else(|| "–".to_owned(), number);
            let name = model.schema.name(heavy.feature);
            table.push(vec![name, number(heavy.weight), effect, group.title.clone()]);
        }
    }
    Some(Section { name: PictureName::Weights, heading: title.into(), text, picture, table })
}

/// The weights of pixels, an image for each class.
pub fn images(evidence: &Evidence<'_>) -> Result<Option<Section>> {
    let model = &evidence.fit.model;
    let told = evidence.rows.data.as_ref().and_then(|data| data.report.image);
    let Some((width, height)) = evidence.wanted.image.or(told) else { return Ok(None) };
    let (pixels, features) = (u64::from(width) * u64::from(height), model.about.features);
    // Rows of svmlight end with the last pixel that is not zero in some image: there may be fewer.
    if features > pixels || 2 * features < pixels {
        let what = format!("images of {width} by {height} pixels do not fit rows of {features} features");
        return Err(Error::usage(what).hint("give the size by --image WxH"));
    }
    let Some(weights) = model.scorer.weights() else { return Ok(None) };
    let images: Vec<Image> = (0..weights.outputs())
        .map(|output| {
            let values = (0..pixels as usize).map(|j| weights.weight(j, output)).collect();
            Image { title: evidence_for(model, output), values }
        })
        .collect();
    let title = "Weights as images";
    let description =
        format!("An image of {width} by {height} weights for each of {} weight vectors.", images.len());
    let drawing = Images { title, description: &description, width: width as usize, images: &images };
    let less = if drawing.shown() < images.len() {
        format!(" The first {} are drawn.", drawing.shown())
    } else {
        String::new()
    };
    let text = format!(
        "The weight of each pixel where the pixel stands: blue is evidence for the class, orange against it, \
         the ground is zero; each image has its own scale.{less}"
    );
    let mut table = vec![line(["image", "least weight", "largest weight"])];
    for image in &images {
        let most = image.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = image.values.iter().copied().fold(f64::INFINITY, f64::min);
        table.push(vec![image.title.clone(), number(least), number(most)]);
    }
    Ok(Some(Section {
        name: PictureName::Image,
        heading: title.into(),
        text,
        picture: drawing.draw(),
        table,
    }))
}
